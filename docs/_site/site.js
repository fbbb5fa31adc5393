// Tables wider than the page scroll by keyboard too: the theme's boxes around them cannot be reached by it.
addEventListener("load", () => {
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0
  }
})
