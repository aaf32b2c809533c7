// chart draws bars. It waits for a frame, as chart libraries do.
export function chart(canvas, months) {
  requestAnimationFrame(() => {
    const scale = 2
    canvas.width = canvas.clientWidth * scale
    canvas.height = canvas.clientHeight * scale
    const pen = canvas.getContext('2d')
    const style = getComputedStyle(document.documentElement)
    const most = Math.max(...months.map(([, value]) => value))
    const step = canvas.width / months.length
    pen.font = `${12 * scale}px sans-serif`
    pen.textAlign = 'center'
    for (const [n, [name, value]] of months.entries()) {
      const height = (canvas.height - 30 * scale) * value / most
      pen.fillStyle = style.getPropertyValue('--primary')
      pen.fillRect(n * step + step * 0.15, canvas.height - 20 * scale - height, step * 0.7, height)
      pen.fillStyle = style.getPropertyValue('--base-content')
      pen.fillText(name, n * step + step / 2, canvas.height - 4 * scale)
    }
  })
}
