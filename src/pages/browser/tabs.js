/** Makes a line of tabs of sections that open one at a time, as the ARIA practices describe it: arrows go from tab to tab. */

/** @param {ParentNode} part */
export function upgradeTabs(part) {
  for (const group of part.querySelectorAll('[data-tabs]')) upgrade(/** @type {HTMLElement} */ (group))
}

/** @param {HTMLElement} group */
function upgrade(group) {
  const line = document.createElement('div')
  line.className = 'tab-list'
  line.role = 'tablist'
  if (group.dataset.tabs) line.ariaLabel = group.dataset.tabs
  delete group.dataset.tabs
  const sections = [...group.querySelectorAll(':scope > details')]
  const labels = sections.map((section) => section.querySelector('summary')?.textContent ?? '')
  const named = sections.findIndex(({ id }) => location.hash === `#${id}`)
  const open = sections.findIndex((section) => section.hasAttribute('open'))
  // What was refused is seen first.
  const first = sections[open]?.querySelector('[data-summary]') || named < 0 ? open : named
  const panels = sections.map(panelOf)
  const buttons = panels.map((panel, at) => {
    const button = document.createElement('button')
    button.type = 'button'
    button.role = 'tab'
    button.id = `${panel.id}-tab`
    button.textContent = labels[at] ?? ''
    button.setAttribute('aria-controls', panel.id)
    panel.setAttribute('aria-labelledby', button.id)
    button.addEventListener('click', () => choose(at))
    return button
  })
  /** @param {number} at */
  function choose(at) {
    buttons.forEach((button, index) => {
      button.ariaSelected = String(index === at)
      button.tabIndex = index === at ? 0 : -1
      const panel = panels[index]
      if (panel) panel.hidden = index !== at
    })
  }
  line.addEventListener('keydown', (event) => {
    const at = buttons.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement))
    const forward = getComputedStyle(line).direction === 'rtl' ? 'ArrowLeft' : 'ArrowRight'
    const back = forward === 'ArrowRight' ? 'ArrowLeft' : 'ArrowRight'
    const last = buttons.length - 1
    const ways = new Map([
      [forward, at === last ? 0 : at + 1],
      [back, at === 0 ? last : at - 1],
      ['Home', 0],
      ['End', last],
    ])
    const to = ways.get(event.key)
    if (to === undefined) return
    event.preventDefault()
    choose(to)
    buttons[to]?.focus()
  })
  line.append(...buttons)
  group.prepend(line)
  choose(Math.max(first, 0))
}

/**
 * Opens the tabs that an element stands in.
 * @param {Element} element
 */
export function reveal(element) {
  const panel = element.closest('[role=tabpanel]')
  if (!panel) return
  document.getElementById(`${panel.id}-tab`)?.click()
  if (panel.parentElement) reveal(panel.parentElement)
}

/**
 * What was in the section, in an element that may be a tab panel.
 * @param {Element} section
 */
function panelOf(section) {
  const panel = document.createElement('div')
  panel.id = section.id
  panel.role = 'tabpanel'
  panel.tabIndex = 0
  panel.append(...[...section.children].filter((child) => child.localName !== 'summary'))
  section.replaceWith(panel)
  return panel
}
