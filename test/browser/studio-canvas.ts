/** The canvas of the studio in the hand of a mouse: blocks are dragged in, wires are drawn from pin to pin. */
import type { Locator, Page } from 'playwright-core'
import { wordsOfField } from '../../src/shared/fields/field-names.ts'
import { eventually } from './studio-eventually.ts'

/** A pin on the right of a block. `block`: its guid. */
export interface OutPin {
  readonly block: string
  readonly out: string
}

/** A pin on the left of a block. */
export interface InPin {
  readonly block: string
  readonly in: string
}

/** Where in the canvas, in pixels from its corner. */
export interface Spot {
  readonly x: number
  readonly y: number
}

export interface StudioCanvas {
  readonly page: Page
  /** Finds a block in the palette by words, and drags the first one found onto the canvas. Gives its guid. */
  drag(words: string, to: Spot): Promise<string>
  /** Draws a wire from a pin into the empty and chooses the first block found by words. Gives its guid. */
  grow(from: OutPin | InPin, words: string, to: Spot): Promise<string>
  /** Draws a wire from an out-pin to an in-pin. */
  wire(from: OutPin, to: InPin): Promise<void>
  /** Moves a block by its upper left corner. */
  move(block: string, to: Spot): Promise<void>
  /** Clicks the block, so that the panel beside is about it. */
  choose(block: string): Promise<void>
  /** Writes into the field of a pin or setting of the chosen block. */
  write(field: string, text: string): Promise<void>
  block(guid: string): Locator
}

export function studioCanvas(page: Page): StudioCanvas {
  const pane = page.locator('.react-flow__pane')
  const block = (guid: string) => page.locator(`.react-flow__node-block[data-id="${guid}"]`)
  const handle = (pin: OutPin | InPin) =>
    block(pin.block).locator(
      'out' in pin ? `.source[data-handleid="${pin.out}"]` : `.target[data-handleid="${pin.in}"]`,
    )
  /** Pins that nothing uses are folded until one asks for them. */
  async function shown(pin: OutPin | InPin): Promise<Locator> {
    const found = handle(pin)
    if ((await found.count()) === 0)
      await block(pin.block)
        .getByRole('button', { name: /^\+\d+ more$/ })
        .click()
    await found.waitFor()
    return found
  }
  const nodes = page.locator('.react-flow__node-block')
  const chosen = page.locator('.react-flow__node-block.selected')
  const guids = (all: Locator) =>
    all.evaluateAll((found) => found.map((one) => one.getAttribute('data-id') ?? ''))

  /**
   * The one block that was not there before `work`. It is chosen, so that the panel beside is about it; others only come
   * into sight, since the canvas draws what is in sight and moves to show what is new.
   */
  async function added(work: () => Promise<void>): Promise<string> {
    const before = new Set(await guids(nodes))
    await work()
    let fresh: string | undefined
    await eventually(async () => {
      fresh = (await guids(chosen)).find((guid) => !before.has(guid))
      return fresh
    }).toBeDefined()
    return fresh ?? ''
  }

  return {
    page,
    block,
    drag(words, targetPosition) {
      return added(async () => {
        const palette = page.getByRole('complementary', { name: 'Blocks to add' })
        await palette.getByRole('combobox').fill(words)
        await palette.getByRole('option').first().dragTo(pane, { targetPosition })
      })
    },
    grow(from, words, targetPosition) {
      return added(async () => {
        await (await shown(from)).dragTo(pane, { targetPosition })
        const dialog = page.getByRole('dialog')
        await dialog.getByRole('combobox').fill(words)
        await dialog.getByRole('option').first().click()
        await dialog.waitFor({ state: 'detached' })
      })
    },
    async wire(from, to) {
      const target = await shown(to)
      await (await shown(from)).dragTo(target)
      const id = `${from.block}|${from.out}>${to.block}|${to.in}`
      await page.locator(`.react-flow__edge[data-id="${id}"]`).waitFor({ state: 'attached' })
    },
    async choose(guid) {
      await block(guid).click({ position: { x: 60, y: 12 } })
      // Fields of the same name stand in the panel for the one before, until it is about this one.
      await eventually(() => guids(chosen)).toEqual([guid])
    },
    async move(guid, targetPosition) {
      await block(guid).dragTo(pane, { sourcePosition: { x: 20, y: 8 }, targetPosition, steps: 5 })
    },
    async write(field, text) {
      // What is needed has an asterisk behind its name; lists to choose from have the name of their field.
      const named = page.getByLabel(new RegExp(`^${wordsOfField(field)}( \\*)?$`))
      await named.and(page.locator('input, textarea')).fill(text)
      await page.keyboard.press('Tab')
    },
  }
}
