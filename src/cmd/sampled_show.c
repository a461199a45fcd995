/* sampled_show: see sampled_show.h. */
#include "cmd/sampled_show.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "base/json.h"
#include "cmd/cmd.h"
#include "cmd/figures.h"
#include "cmd/name.h"
#include "cmd/table.h"

unsigned sampled_show_columns(struct table_column *c, enum sampled_by by)
{
	static const struct table_column image = {"image", TABLE_DIM};
	unsigned n = 0;

	switch (by) {
	case SAMPLED_IMAGE:
		c[n++] = (struct table_column){"image", TABLE_NAME};
		break;
	case SAMPLED_PROCEDURE:
		c[n++] = image;
		c[n++] = (struct table_column){"procedure", TABLE_NAME};
		break;
	case SAMPLED_LINE:
		c[n++] = image;
		c[n++] = (struct table_column){"line", TABLE_NAME};
		break;
	case SAMPLED_INSTRUCTION:
		c[n++] = (struct table_column){"address", TABLE_NUMBER};
		c[n++] = image;
		c[n++] = (struct table_column){"procedure", TABLE_NAME};
		break;
	}
	return n;
}

void sampled_show_one_event(const struct sampled_runs *r)
{
	char text[160];

	if (!r->more_events)
		return;
	snprintf(text, sizeof text, "only samples of %.60s were compared; "
		 "--event names another", r->event);
	cmd_note(text);
}
