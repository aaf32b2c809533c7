async (limit, scrolls) => {
  const end = performance.now() + limit
  const left = () => Math.max(0, end - performance.now())
  const sleep = (ms) => new Promise((done) => setTimeout(done, ms))
  const root = document.documentElement
  const page = document.scrollingElement
  // Resolves at the end of a frame, when all observers have been called.
  const seen = () => Promise.race([new Promise((done) => new IntersectionObserver(done).observe(root)), sleep(100)])

  for (const lazy of document.querySelectorAll('[loading=lazy]')) lazy.loading = 'eager'

  // Observers load what comes into view. So for one frame the page is scaled down until
  // all of it is in view; its layout does not change. A page that grows is shown again,
  // at most five times, because some pages have no end.
  for (let round = 0, height = 0; round < 5 && page && page.scrollHeight > Math.max(height, innerHeight * 1.5) && left() > 0; round++) {
    height = page.scrollHeight
    const scale = Math.min(innerHeight / height, innerWidth / page.scrollWidth)
    const small = root.animate({ transform: [`scale(${scale})`, `scale(${scale})`], transformOrigin: ['0 0', '0 0'] }, { duration: 1e9, fill: 'both' })
    await seen()
    small.cancel()
  }

  // Scroll listeners read how far the page is scrolled.
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
