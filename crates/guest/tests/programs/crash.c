/* A fault four calls deep. */
int innermost(int *p) { return p[4]; }
int middle(int *p) { return innermost(p) + 1; }
int outer(int *p) { return middle(p) + 2; }
int main(int argc, char **argv) { return outer((int *)(long)(argc - 1)) + 3; }
