//! DXBC containers: parts by four letters.
