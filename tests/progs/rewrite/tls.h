/* tls: what program and library share. */
#ifndef TLS_H
#define TLS_H

extern __thread int tls_shared;
int *tls_library(int n);
int tls_sum(void);

#endif
