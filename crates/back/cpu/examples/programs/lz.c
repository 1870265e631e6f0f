#include "bare.h"
#include <stddef.h>
/* byte-oriented LZ77: flag byte per 8 tokens; match = 12-bit offset, 4-bit length-3 */
#define N (1<<18)
static uint8_t in[N],packed[N*9/8+64],back[N+32]; static int32_t head[1<<14],prev[N];
static unsigned hh(const uint8_t*p){ return ((p[0]<<16|p[1]<<8|p[2])*2654435761u)>>18; }
static size_t comp(const uint8_t*s,size_t n,uint8_t*d){ size_t i=0,o=0,fp=0; int bit=8; memset(head,255,sizeof head); while(i<n){ if(bit==8){ fp=o++; d[fp]=0; bit=0; } size_t bl=0,bo=0; if(i+3<n){ unsigned k=hh(s+i); int32_t c=head[k]; int tries=16; while(c>=0&&i-c<4096&&tries--){ size_t l=0; while(l<18&&i+l<n&&s[c+l]==s[i+l]) l++; if(l>bl){bl=l;bo=i-c;} c=prev[c]; } } if(bl>=3){ d[fp]|=1<<bit; d[o++]=(uint8_t)(bo>>4); d[o++]=(uint8_t)(bo<<4|(bl-3)); } else { bl=1; d[o++]=s[i]; } bit++; while(bl--){ if(i+3<n){ unsigned k=hh(s+i); prev[i]=head[k]; head[k]=i; } i++; } } return o; }
static size_t dec(const uint8_t*s,size_t n,uint8_t*d){ size_t i=0,o=0; int bit=8; unsigned f=0; while(i<n){ if(bit==8){ f=s[i++]; bit=0; if(i>=n)break; } if(f>>bit&1){ unsigned of=s[i]<<4|s[i+1]>>4,l=(s[i+1]&15)+3; i+=2; while(l--){ d[o]=d[o-of]; o++; } } else d[o++]=s[i++]; bit++; } return o; }
static int bare_main(void){ int reps=60,k; size_t i; static const char*words[]={"the ","quick ","emulator ","tile ","branch ","delay ","slot ","of ","page ","table ","\n","GPU "}; i=0; while(i<N){ uint32_t r=rnd(); if(r%9==0){ in[i++]=(uint8_t)(r>>8); continue; } const char*w=words[(r>>4)%12]; while(*w&&i<N) in[i++]=*w++; } size_t z=0; for(k=0;k<reps;k++){ z=comp(in,N,packed); size_t b=dec(packed,z,back); if(b!=N||memcmp(in,back,N)){ return 1; } in[(k*977)%N]^=1; } for(i=0;i<z;i++) mix(packed[i]); hex(z); hex(ck); return 0; }
