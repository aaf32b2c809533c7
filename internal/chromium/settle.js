async (limit) => {
  const end = performance.now() + limit
  const left = () => Math.max(0, end - performance.now())
  const sleep = (ms) => new Promise((done) => setTimeout(done, ms))
  const frame = () => Promise.race([new Promise((done) => requestAnimationFrame(() => done())), sleep(100)])

  for (const lazy of document.querySelectorAll('[loading=lazy]')) lazy.loading = 'eager'

  // Observers load what comes into view. At most 40 steps: an endless page grows
  // with each.
  const page = document.scrollingElement
  if (page && page.scrollHeight > innerHeight * 1.5) {
    const [x, y] = [scrollX, scrollY]
    for (let step = 1; step <= 40 && step * innerHeight < page.scrollHeight && left() > 0; step++) {
      scrollTo({ left: x, top: step * innerHeight, behavior: 'instant' })
      await frame()
    }
    await frame()
    scrollTo({ left: x, top: y, behavior: 'instant' })
  }

  const pictures = [...document.images].filter((image) => !image.complete).map((image) => new Promise((done) => {
    image.addEventListener('load', done, { once: true })
    image.addEventListener('error', done, { once: true })
  }))
  await Promise.race([Promise.all([document.fonts.ready, ...pictures]), sleep(left())])
}
