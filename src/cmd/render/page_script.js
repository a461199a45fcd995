/* what all pages have: a field to search in, keys, a text in the corner */
const get = id => document.getElementById(id);

/* the text in the corner; "": none */
function describe(text) {
	get("text").textContent = text;
	get("text").style.display = text ? "block" : "none";
}

/*
 * search() is called when the field changes, next(1 or -1), if there is one,
 * when Enter is pressed in it; elsewhere keys do what keys[name] does. A link
 * to a search is #name.
 */
function listen(search, keys, next) {
	get("find").addEventListener("input", search);
	get("find").addEventListener("keydown", e => {
		if (e.key === "Enter" && next)
			next(e.shiftKey ? -1 : 1);
		if (e.key === "Escape")
			e.target.blur();
		e.stopPropagation();
	});
	window.addEventListener("keydown", e => {
		if (e.key === "/") {
			e.preventDefault();
			get("find").focus();
		} else if (keys[e.key]) {
			keys[e.key]();
		}
	});
	if (location.hash.length > 1) {
		get("find").value = decodeURIComponent(location.hash.slice(1));
		search();
	}
}
