import { chart } from './chart.js'

const app = document.querySelector('#app')
const text = (tag, content, className = '') => Object.assign(document.createElement(tag), { textContent: content, className })

async function json(path) {
  const answer = await fetch(path)
  if (!answer.ok) throw Object.assign(new Error(`${path} answered ${answer.status}`), { status: answer.status })
  return answer.json()
}

// The browser creates everything below, after several requests.
try {
  const user = await json('/api/user')
  const report = await json('/api/report')
  document.title = report.title
  app.replaceChildren(header(report, user), body(report), text('div', 'We use cookies.', 'cookies'))
  history.replaceState({}, '', '/report/2026-q3')
  chart(document.querySelector('canvas'), report.months)
  observe()
} catch (problem) {
  app.replaceChildren(text('h1', problem.status === 401 ? 'Please sign in' : 'Something went wrong'), text('p', problem.message))
}
window.reportReady = true

function header(report, user) {
  const header = document.createElement('header')
  const nav = document.createElement('nav')
  for (const word of ['Overview', 'Tables', 'Gallery']) nav.append(Object.assign(text('a', word), { href: `#${word}` }))
  header.append(text('strong', report.company), text('span', `Signed in as ${user.name}`), nav)
  return header
}

function body(report) {
  const main = document.createElement('main')
  const figures = text('ul', '', 'figures')
  for (const [name, value] of report.figures) {
    const item = text('li', name)
    item.prepend(text('b', value))
    figures.append(item)
  }
  main.append(text('h1', report.title), text('p', report.summary), figures, document.createElement('canvas'), text('h2', 'Regions'), table(report.regions), text('h2', 'Gallery'), gallery())
  return main
}

function table(rows) {
  const table = document.createElement('table')
  table.append(document.createElement('thead'), document.createElement('tbody'))
  for (const [i, row] of rows.entries()) {
    const line = document.createElement('tr')
    for (const cell of row) line.append(text(i ? 'td' : 'th', cell))
    table.children[i ? 1 : 0].append(line)
  }
  return table
}

// The first pictures load at once, the next with the attribute loading=lazy, and the others when an observer reports
// them. The second picture does not exist.
function gallery() {
  const gallery = text('div', '', 'gallery')
  for (let n = 1; n <= 12; n++) {
    const figure = document.createElement('figure')
    const image = document.createElement('img')
    image.alt = `Picture ${n}`
    const source = n === 2 ? '/images/missing.svg' : `/images/${n}.svg`
    if (n > 8) image.dataset.src = source
    else {
      if (n > 4) image.loading = 'lazy'
      image.src = source
    }
    figure.append(image, text('figcaption', `Picture ${n}`))
    gallery.append(figure)
  }
  return gallery
}

function observe() {
  const observer = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue
      target.src = target.dataset.src
      observer.unobserve(target)
    }
  })
  for (const image of document.querySelectorAll('[data-src]')) observer.observe(image)
}
