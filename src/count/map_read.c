/* map_read: finds the map in a rewritten file. */
#include "count/map.h"
#include "count/carried.h"

int map_read(struct map *m, const char *file, struct err *e)
{
	size_t size;
	uint8_t *bytes = carried_read(file, MAP_SECTION, &size, e);
	int status = -1;

	if (bytes)
		status = map_unpack(m, bytes, size, file, e);
	mem_free(bytes);
	return status;
}
