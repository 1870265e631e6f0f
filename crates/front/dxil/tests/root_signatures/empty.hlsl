#define RS ""
