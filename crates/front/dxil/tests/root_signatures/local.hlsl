#define RS "RootFlags(LOCAL_ROOT_SIGNATURE), RootConstants(num32BitConstants=3, b0, space=9), SRV(t0, space=9), DescriptorTable(SRV(t1, space=9, numDescriptors=2)), UAV(u0, space=9)"
