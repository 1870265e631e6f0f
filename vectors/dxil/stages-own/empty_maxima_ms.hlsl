// -T ms_6_5 -E main
[outputtopology("line")] [numthreads(1, 1, 1)]
void main() { }
