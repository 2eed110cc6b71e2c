/** The outline of the studio under the fingers: everything with keys, and each step goes on where the keyboard is. */
import type { Page } from 'playwright-core'
import { eventually, press as pressIn } from './studio-eventually.ts'

export interface StudioOutline {
  /** What has the keyboard: its row, or the name of its field or button. */
  focused(): Promise<string>
  /** Goes with the arrows to the first row that fits, below that to the first that fits the next, and so on. */
  goTo(...way: readonly RegExp[]): Promise<void>
  /** Goes to the row of the pins that nothing uses, and opens it. */
  unfold(...way: readonly RegExp[]): Promise<void>
  /** Presses Tab until something of that name has the keyboard; a text is the whole name. */
  tabTo(name: string | RegExp): Promise<void>
  /** At a row: adds the first block found by words, behind a step or for a pin, and has the keyboard at it. */
  add(words: string): Promise<void>
  /** Where the list of blocks opens: adds the first one found by words, and has the keyboard at it. */
  choose(words: string): Promise<void>
  /** At a row: writes into its field, or into the first one that the block needs, and comes back. */
  write(text: string): Promise<void>
  /** At the row of a pin: wires it to the first out-pin found by words, and comes back. */
  wire(words: string): Promise<void>
}

/** Counts what a mouse, a pen or a finger does in the page, from its first moment on; read with `pointerEvents`. */
export async function watchPointer(page: Page): Promise<void> {
  await page.addInitScript(`
    globalThis.pointerEvents = 0
    for (const kind of ['pointerdown', 'pointermove', 'mousedown', 'mousemove', 'wheel', 'touchstart'])
      addEventListener(kind, (event) => { if (event.isTrusted) pointerEvents += 1 }, true)
  `)
}

export async function pointerEvents(page: Page): Promise<unknown> {
  return page.evaluate('pointerEvents')
}

const NAME = `(() => {
  const at = document.activeElement
  if (!at || at === document.body) return ''
  const label = at.getAttribute('aria-label') ?? at.labels?.[0]?.textContent ?? at.textContent ?? ''
  return ((at.getAttribute('role') === 'treeitem' ? 'row ' : '') + label.trim()).slice(0, 200)
})()`

/** More fields and buttons than a test ever passes. */
const FAR = 120

export function studioOutline(page: Page): StudioOutline {
  const focused = async () => String(await page.evaluate(NAME))
  const press = (key: string) => page.keyboard.press(key)
  const untilAt = (name: RegExp) => eventually(focused).toMatch(name)

  /** What the rows say, from the first to the last, and which of them has the keyboard. */
  async function rows(): Promise<{ readonly names: readonly string[]; readonly at: number }> {
    const all = page.getByRole('treeitem')
    return all.evaluateAll((elements) => ({
      names: elements.map((one) => one.textContent ?? ''),
      at: elements.findIndex((one) => one.matches(':focus')),
    }))
  }

  /** Where the way leads and where the keyboard is, once all of its rows are there. */
  async function find(way: readonly RegExp[]): Promise<{ readonly from: number; readonly to: number }> {
    let found = { from: -1, to: -1 }
    await eventually(async () => {
      const { names, at } = await rows()
      let to = -1
      for (const next of way) {
        to = names.findIndex((name, index) => index > to && next.test(name))
        if (to < 0) return `No row fits ${next} of ${way.join(', ')}: ${names.join(' | ')}`
      }
      found = { from: at, to }
      return at < 0 ? 'No row has the keyboard.' : ''
    }).toBe('')
    return found
  }

  async function choose(words: string): Promise<void> {
    await untilAt(/^Search blocks$/)
    const ids = () =>
      page.getByRole('treeitem').evaluateAll((all) => all.map((one) => one.getAttribute('data-id')))
    const before = await ids()
    await page.keyboard.type(words)
    await press('Enter')
    // The row that had the keyboard gets it back first, and then the new one.
    const row = page.locator('[role=treeitem][aria-selected=true]:focus')
    await eventually(async () => {
      const [id] = await row.evaluateAll((all) => all.map((one) => one.getAttribute('data-id')))
      return id !== undefined && !before.includes(id)
    }).toBe(true)
  }

  async function goTo(...way: readonly RegExp[]): Promise<void> {
    const { from, to } = await find(way)
    for (let step = from; step < to; step += 1) await press('ArrowDown')
    for (let step = from; step > to; step -= 1) await press('ArrowUp')
    await eventually(async () => (await rows()).at).toBe(to)
  }

  return {
    focused,
    choose,
    goTo,
    async unfold(...way) {
      await goTo(...way, /unused pin/)
      await press('ArrowRight')
      const row = page.locator('[role=treeitem]:focus')
      await eventually(() => row.getAttribute('aria-expanded')).toBe('true')
    },
    async tabTo(name) {
      for (let pressed = 0; pressed < FAR; pressed += 1) {
        const at = await focused()
        if (typeof name === 'string' ? at === name : name.test(at)) return
        await press('Tab')
      }
      throw new Error(`Tab does not reach ${name}.`)
    },
    async add(words) {
      await pressIn(page, 'a')
      await choose(words)
    },
    async write(text) {
      await press('Enter')
      await eventually(focused).not.toMatch(/^row /)
      await press('ControlOrMeta+a')
      await page.keyboard.type(text)
      await press('Escape')
      await untilAt(/^row /)
    },
    async wire(words) {
      await pressIn(page, 'w')
      await untilAt(/^Search blocks and pins$/)
      await page.keyboard.type(words)
      await press('Enter')
      await untilAt(/^row /)
    },
  }
}
