// Extended attributes of glibc, which are missing in Swift's module Glibc.
#include <sys/xattr.h>
