(() => {
  const smallest = .5, step = .04;
  for (const slide of document.querySelectorAll(".slide")) {
    const area = slide.querySelector(".slide-body"), text = area && area.querySelector(".slide-fit");
    if (!text || slide.classList.contains("slide-full")) continue;
    const fits = () => slide.scrollHeight <= slide.clientHeight + 1 && text.scrollHeight <= area.clientHeight + 1 && text.scrollWidth <= area.clientWidth + 1;
    for (let fit = 1; !fits() && fit > smallest; ) {
      fit -= step;
      area.style.setProperty("--fit", fit.toFixed(2));
    }
    if (fits()) continue;
    // More than a slide holds goes on on another page.
    Object.assign(slide.style, {height: "auto", breakInside: "auto", overflow: "visible"});
    area.style.flex = "none";
  }
})()
