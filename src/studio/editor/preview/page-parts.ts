/** What the HTML of a preview says of the blocks that made it: the server writes their guids into `data-block`. */

export interface PagePart {
  /** Of this part among all. */
  readonly key: string
  readonly block: string
  /** 1 for what is on the page itself. */
  readonly depth: number
}

/** Elements that are looked at: a table of thousands of rows holds no further parts worth a line. */
const MOST_ELEMENTS = 5_000
const MOST_PARTS = 300
const marked = '[data-block]'

/** The parts of the page as they stand inside each other. A block that made several things in one place counts once. */
export function partsOf(page: Document, isKnown: (block: string) => boolean): readonly PagePart[] {
  const parts = new Map<string, PagePart>()
  const byElement = new Map<Element, PagePart>()
  for (const element of [...page.querySelectorAll(marked)].slice(0, MOST_ELEMENTS)) {
    const block = blockOf(element)
    if (!isKnown(block)) continue
    const parent = partAround(element.parentElement, byElement)
    const key = `${parent?.key ?? ''}/${block}`
    const part = parts.get(key) ?? { key, block, depth: (parent?.depth ?? 0) + 1 }
    byElement.set(element, part)
    if (parts.size < MOST_PARTS) parts.set(key, part)
  }
  return [...parts.values()]
}

/** The block that made what was clicked, or what is around it; undefined for what no block of this blueprint made. */
export function clickedBlock(
  page: Document,
  { clientX, clientY, detail }: Pick<MouseEvent, 'clientX' | 'clientY' | 'detail'>,
  isKnown: (block: string) => boolean,
): string | undefined {
  // A key on a link is a click without a place.
  let at = detail === 0 ? page.activeElement : page.elementFromPoint(clientX, clientY)
  for (at = at?.closest(marked) ?? null; at; at = at.parentElement?.closest(marked) ?? null)
    if (isKnown(blockOf(at))) return blockOf(at)
  return undefined
}

/** Outlines what the blocks made, and brings the first of it into sight. */
export function outlineBlocks(page: Document, blocks: ReadonlySet<string>, color: string): void {
  let first: HTMLElement | undefined
  for (const element of page.querySelectorAll<HTMLElement>(marked)) {
    const isChosen = blocks.has(blockOf(element))
    element.style.outline = isChosen ? `2px solid ${color}` : ''
    element.style.outlineOffset = isChosen ? '2px' : ''
    if (isChosen) first ??= element
  }
  const view = page.defaultView
  if (!first || !view) return
  // Not `scrollIntoView`: that would scroll the studio too.
  const { top, bottom } = first.getBoundingClientRect()
  if (bottom < 0 || top > view.innerHeight) view.scrollBy(0, top - view.innerHeight / 3)
}

function partAround(
  element: Element | null,
  byElement: ReadonlyMap<Element, PagePart>,
): PagePart | undefined {
  for (let at = element; at; at = at.parentElement) {
    const part = byElement.get(at)
    if (part) return part
  }
  return undefined
}

function blockOf(element: Element): string {
  return element.getAttribute('data-block') ?? ''
}
