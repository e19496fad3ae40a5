// SPDX-License-Identifier: BSD-3-Clause
// Making and changing elements, in few words.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
	for (const [name, value] of Object.entries(attributes)) {
		if (value === null || value === undefined || value === false) continue;
		if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
		else element.setAttribute(name, value === true ? "" : value);
	}
	element.append(...children.flat().filter((child) => child !== null && child !== undefined));
	return element;
}

export function h(tag, attributes = {}, ...children) {
	return fill(document.createElement(tag), attributes, children);
}

export function s(tag, attributes = {}, ...children) {
	return fill(document.createElementNS(SVG, tag), attributes, children);
}

// Touches the page only where something is new: most numbers stay what they are.
export function setText(element, text) {
	if (element.firstChild?.nodeType === Node.TEXT_NODE && element.childNodes.length === 1) {
		if (element.firstChild.data !== text) element.firstChild.data = text;
	} else {
		element.textContent = text;
	}
}

export function setAttribute(element, name, value) {
	if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

export const byId = (id) => document.getElementById(id);
