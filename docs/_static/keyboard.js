/* What furo leaves to the mouse and the finger: boxes that scroll, and the two drawers of a narrow window. */
"use strict";

{
  /* A box that is narrower than its content becomes a stop of the Tab key: there, the arrow keys scroll it. */
  const markBoxes = (selector, role, name) => {
    const boxes = [...document.querySelectorAll(selector)];
    const mark = ({ target: box }) => {
      const label = `${name}${boxes.indexOf(box) + 1}（横に動かせます）`;
      for (const [attribute, value] of Object.entries({ tabindex: "0", role, "aria-label": label }))
        if (box.scrollWidth > box.clientWidth) box.setAttribute(attribute, value);
        else box.removeAttribute(attribute);
    };
    const observer = new ResizeObserver((changes) => changes.forEach(mark));
    for (const box of boxes) observer.observe(box);
  };
  markBoxes("pre", "group", "コード");
  markBoxes(".math-wrapper", "region", "数式");
  markBoxes(".table-wrapper", "region", "表");

  /* furo opens a drawer by the label of a hidden checkbox. A button takes the place of the label, and sets the checkbox. */
  const makeButton = (label, checkbox, drawer) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = label.className;
    button.setAttribute("aria-label", checkbox.getAttribute("aria-label"));
    button.setAttribute("aria-controls", drawer.id);
    button.append(...label.children);
    label.replaceWith(button);
    return button;
  };

  const makeDrawer = (checkbox, drawer) => {
    drawer.id ||= `drawer${checkbox.id}`;
    drawer.tabIndex = -1;
    const labels = [...document.querySelectorAll(`.page label[for="${checkbox.id}"]`)];
    const buttons = labels.map((label) => makeButton(label, checkbox, drawer));
    const show = (open) => {
      checkbox.checked = open;
      for (const button of buttons) button.setAttribute("aria-expanded", open);
    };

    for (const button of buttons)
      button.addEventListener("click", () => {
        show(!checkbox.checked);
        if (checkbox.checked) drawer.focus();
      });
    checkbox.addEventListener("change", () => show(checkbox.checked)); // a click beside the drawer
    drawer.addEventListener("click", (event) => {
      if (event.target.closest("a")) show(false);
    });
    document.addEventListener("focusin", ({ target }) => {
      if (!drawer.contains(target) && !buttons.includes(target)) show(false);
    });
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !checkbox.checked) return;
      show(false);
      buttons.find((button) => button.checkVisibility())?.focus();
    });
    show(false);
  };

  makeDrawer(document.getElementById("__navigation"), document.querySelector(".sidebar-drawer"));
  makeDrawer(document.getElementById("__toc"), document.querySelector(".toc-drawer"));
}
