#ifndef SPS_POSTGRES_FACTS_H
#define SPS_POSTGRES_FACTS_H

/// How many functions of libpq have been compared with libpq's own header, by the compiler.
int postgres_facts_count(void);

#endif
