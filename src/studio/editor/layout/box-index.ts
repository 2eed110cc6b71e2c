/** The boxes of all blocks, to ask which of them a line would run through. */
export interface Box {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

export interface BoxIndex {
  /** By guid. */
  readonly boxes: ReadonlyMap<string, Box>
  /** From left to right. */
  readonly sorted: readonly Box[]
  readonly widest: number
}

export function boxIndex(boxes: ReadonlyMap<string, Box>): BoxIndex {
  const sorted = [...boxes.values()].sort((a, b) => a.left - b.left)
  return { boxes, sorted, widest: Math.max(0, ...sorted.map(({ left, right }) => right - left)) }
}

/** Boxes that share more than an edge with this one. */
export function boxesIn({ sorted, widest }: BoxIndex, area: Box): Box[] {
  const found: Box[] = []
  for (let at = firstFrom(sorted, area.left - widest); at < sorted.length; at++) {
    const box = sorted[at]
    if (!box || box.left >= area.right) break
    if (box.right > area.left && box.top < area.bottom && box.bottom > area.top) found.push(box)
  }
  return found
}

/** Place of the first box that does not begin before. */
function firstFrom(sorted: readonly Box[], left: number): number {
  let [from, to] = [0, sorted.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((sorted[middle]?.left ?? 0) < left) from = middle + 1
    else to = middle
  }
  return from
}
