//! The loader, the instance and, on request, the validation layer's messages.

use crate::error::Named;
use crate::{DeviceInfo, Error};
use ash::vk;
use std::ffi::{CStr, c_void};
use std::sync::{Mutex, PoisonError};

const VALIDATION_LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

/// The Vulkan this crate is written for: the newest whose structures it names.
const WANTED_API: u32 = vk::API_VERSION_1_3;

/// A Vulkan instance, destroyed with its messenger on drop.
pub(crate) struct Instance {
    /// Keeps the loader library open for as long as anything calls into it.
    _entry: ash::Entry,
    pub raw: ash::Instance,
    messenger: Option<Messenger>,
}

struct Messenger {
    functions: ash::ext::debug_utils::Instance,
    raw: vk::DebugUtilsMessengerEXT,
    /// Boxed, because the driver keeps its address.
    errors: Box<Mutex<Vec<String>>>,
}

impl Instance {
    /// # Errors
    /// [`Error::NoVulkan`] when there is no loader, no driver or none of Vulkan 1.1, [`Error::Unsupported`] when
    /// validation is asked for and the layer is not installed.
    pub(crate) fn new(validation: bool) -> Result<Instance, Error> {
        // SAFETY: running the initialisers of the host's own Vulkan loader is what every Vulkan program does.
        let entry = unsafe { ash::Entry::load() }.map_err(|error| Error::NoVulkan(error.to_string()))?;
        // SAFETY: no preconditions.
        let version = unsafe { entry.try_enumerate_instance_version() }
            .named("vkEnumerateInstanceVersion")?
            .unwrap_or(vk::API_VERSION_1_0);
        if version < vk::API_VERSION_1_1 {
            return Err(Error::NoVulkan("the loader knows only Vulkan 1.0".to_owned()));
        }
        let (mut layers, mut extensions) = (Vec::new(), Vec::new());
        if validation {
            // SAFETY: no preconditions.
            let offered = unsafe { entry.enumerate_instance_layer_properties() }.unwrap_or_default();
            if !offered.iter().any(|l| l.layer_name_as_c_str() == Ok(VALIDATION_LAYER)) {
                return Err(Error::Unsupported("the layer VK_LAYER_KHRONOS_validation".to_owned()));
            }
            layers.push(VALIDATION_LAYER.as_ptr());
            extensions.push(ash::ext::debug_utils::NAME.as_ptr());
        }
        // SAFETY: no preconditions.
        let offered = unsafe { entry.enumerate_instance_extension_properties(None) }.unwrap_or_default();
        let mut flags = vk::InstanceCreateFlags::empty();
        if offered.iter().any(|e| e.extension_name_as_c_str() == Ok(ash::khr::portability_enumeration::NAME))
        {
            extensions.push(ash::khr::portability_enumeration::NAME.as_ptr());
            flags |= vk::InstanceCreateFlags::ENUMERATE_PORTABILITY_KHR;
        }
        let application =
            vk::ApplicationInfo::default().application_name(c"xenoglot").api_version(WANTED_API.min(version));
        let create = vk::InstanceCreateInfo::default()
            .flags(flags)
            .application_info(&application)
            .enabled_layer_names(&layers)
            .enabled_extension_names(&extensions);
        // SAFETY: the layers and extensions are among those offered, and all pointers outlive the call.
        let raw = unsafe { entry.create_instance(&create, None) }
            .map_err(|result| Error::NoVulkan(format!("vkCreateInstance: {result:?}")))?;
        let mut instance = Instance { _entry: entry, raw, messenger: None };
        if validation {
            instance.messenger = Some(Messenger::new(&instance._entry, &instance.raw)?);
        }
        Ok(instance)
    }

    /// All devices in the loader's order.
    pub(crate) fn devices(&self) -> Result<Vec<(vk::PhysicalDevice, DeviceInfo)>, Error> {
        // SAFETY: the instance is alive.
        let devices = unsafe { self.raw.enumerate_physical_devices() }.named("vkEnumeratePhysicalDevices")?;
        Ok(devices.into_iter().map(|device| (device, DeviceInfo::query(&self.raw, device))).collect())
    }

    /// The validation errors since the last call, as an error.
    pub(crate) fn check_validation(&self) -> Result<(), Error> {
        let Some(messenger) = &self.messenger else { return Ok(()) };
        let errors = std::mem::take(&mut *messenger.errors.lock().unwrap_or_else(PoisonError::into_inner));
        if errors.is_empty() { Ok(()) } else { Err(Error::Validation(errors)) }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: everything made from the instance holds it by reference count, so nothing of it is left; the
        // messenger goes first.
        unsafe {
            if let Some(messenger) = &self.messenger {
                messenger.functions.destroy_debug_utils_messenger(messenger.raw, None);
            }
            self.raw.destroy_instance(None);
        }
    }
}

impl Messenger {
    fn new(entry: &ash::Entry, instance: &ash::Instance) -> Result<Messenger, Error> {
        let functions = ash::ext::debug_utils::Instance::new(entry, instance);
        let errors = Box::new(Mutex::new(Vec::new()));
        let create = vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR)
            .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
            .pfn_user_callback(Some(collect))
            .user_data(std::ptr::from_ref::<Mutex<Vec<String>>>(&errors).cast_mut().cast());
        // SAFETY: the callback has the wanted type, and its data is boxed in the messenger, which is destroyed before
        // the box is freed.
        let raw = unsafe { functions.create_debug_utils_messenger(&create, None) }
            .named("vkCreateDebugUtilsMessengerEXT")?;
        Ok(Messenger { functions, raw, errors })
    }
}

/// Appends a message of the validation layer to the list behind `errors`.
///
/// # Safety
/// Called by the driver with the message it made and the pointer given to [`Messenger::new`].
unsafe extern "system" fn collect(
    _severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _kind: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    errors: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: see above; a message is nul-terminated or absent.
    let (message, errors) = unsafe {
        let message = data.as_ref().and_then(|data| data.message_as_c_str());
        (message, errors.cast::<Mutex<Vec<String>>>().as_ref())
    };
    if let (Some(message), Some(errors)) = (message, errors) {
        let message = message.to_string_lossy().into_owned();
        errors.lock().unwrap_or_else(PoisonError::into_inner).push(message);
    }
    vk::FALSE
}
