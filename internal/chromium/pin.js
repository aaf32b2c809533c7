() => {
  const root = document.documentElement
  const fixed = [...document.querySelectorAll('body *')].slice(0, 20000).filter((e) => getComputedStyle(e).position === 'fixed')
  // Elements at the lower edge of the window move to the end of the page. The others stay
  // where they are before any scrolling.
  const places = fixed.map((e) => e.getBoundingClientRect())
  fixed.forEach((e, i) => {
    const { top, bottom } = places[i]
    e.style.setProperty('position', 'absolute', 'important')
    if (top > 0 && top + bottom > innerHeight) {
      e.style.setProperty('top', 'auto', 'important')
      e.style.setProperty('bottom', `${innerHeight - bottom}px`, 'important')
    }
  })
  if (fixed.length && getComputedStyle(root).position === 'static') root.style.setProperty('position', 'relative', 'important')
}
