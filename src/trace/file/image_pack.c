/* image_pack: what a trace carries of a rewritten file, see image.h. */
#include "count/map/map.h"
#include "count/profile/embedded.h"
#include "rewrite/output/reverse_map.h"
#include "trace/file/image.h"
#include "trace/file/unwind_table.h"

int trace_image_pack(const char *file, buffer *to, struct err *e)
{
	size_t nmap, nback;
	uint8_t *map = embedded_read(file, MAP_SECTION, &nmap, e), *back;

	if (!map)
		return -1;
	back = embedded_read(file, REVERSE_MAP_SECTION, &nback, e);
	if (!back) {
		mem_free(map);
		return -1;
	}
	buffer_uint(to, 4, TRACE_IMAGE_VERSION);
	buffer_uint(to, 4, nmap);
	buffer_bytes(to, map, nmap);
	buffer_uint(to, 4, nback);
	buffer_bytes(to, back, nback);
	mem_free(map);
	mem_free(back);
	return unwind_table_pack(file, to, e);
}
