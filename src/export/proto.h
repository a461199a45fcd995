/*
 * proto: messages in the wire format of protocol buffers: fields one behind
 * the other, each a key (number << 3 | type) and a value. A field that is 0 or
 * empty means the same as one that is absent, and is left out.
 */
#ifndef EXPORT_PROTO_H
#define EXPORT_PROTO_H

#include "base/buffer.h"

enum proto_type {
	PROTO_NUMBER = 0, /* LEB128 */
	PROTO_BYTES = 2,  /* a length and so many bytes */
};

static inline void proto_key(buffer *b, unsigned field, enum proto_type type)
{
	buffer_uleb(b, field << 3 | type);
}

static inline void proto_number(buffer *b, unsigned field, uint64_t value)
{
	if (!value)
		return;
	proto_key(b, field, PROTO_NUMBER);
	buffer_uleb(b, value);
}

/* a string, or a message; that is there even if it is empty */
static inline void proto_bytes(buffer *b, unsigned field, const void *bytes,
			       size_t n)
{
	proto_key(b, field, PROTO_BYTES);
	buffer_uleb(b, n);
	buffer_bytes(b, bytes, n);
}

/* an array of numbers */
static inline void proto_numbers(buffer *b, unsigned field,
				 const uint64_t *value, size_t n)
{
	size_t size = 0;

	for (size_t i = 0; i < n; i++)
		size += uleb_size(value[i]);
	proto_key(b, field, PROTO_BYTES);
	buffer_uleb(b, size);
	for (size_t i = 0; i < n; i++)
		buffer_uleb(b, value[i]);
}

#endif
