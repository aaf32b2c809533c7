async (limit, scrolls) => {
  const end = performance.now() + limit
  const left = () => Math.max(0, end - performance.now())
  const sleep = (ms) => new Promise((done) => setTimeout(done, ms))
  const root = document.documentElement
  const page = document.scrollingElement
  // The end of a frame, in which all observers were told what they see.
  const seen = () => Promise.race([new Promise((done) => new IntersectionObserver(done).observe(root)), sleep(100)])

  for (const lazy of document.querySelectorAll('[loading=lazy]')) lazy.loading = 'eager'

  // Observers load what comes into view, so the page is shown so small for a
  // frame that all of it is. Its layout does not change. What grows with that is
  // shown again, but not for ever: some pages have no end.
  for (let round = 0, height = 0; round < 5 && page && page.scrollHeight > Math.max(height, innerHeight * 1.5) && left() > 0; round++) {
    height = page.scrollHeight
    const scale = Math.min(innerHeight / height, innerWidth / page.scrollWidth)
    const small = root.animate({ transform: [`scale(${scale})`, `scale(${scale})`], transformOrigin: ['0 0', '0 0'] }, { duration: 1e9, fill: 'both' })
    await seen()
    small.cancel()
  }

  // Listeners ask how far the page is scrolled.
  if (scrolls && page) {
    const [x, y] = [scrollX, scrollY]
    for (let step = 1; step <= 40 && step * innerHeight < page.scrollHeight && left() > 0; step++) {
      scrollTo({ left: x, top: step * innerHeight, behavior: 'instant' })
      await seen()
    }
    scrollTo({ left: x, top: y, behavior: 'instant' })
    await seen()
  }

  const pictures = [...document.images].filter((image) => !image.complete).map((image) => new Promise((done) => {
    image.addEventListener('load', done, { once: true })
    image.addEventListener('error', done, { once: true })
  }))
  await Promise.race([Promise.all([document.fonts.ready, ...pictures]), sleep(left())])
}
