/** Changed lines by file, of the output of `git diff -U0 --no-renames`. */

export interface Lines {
  /** Counted from 1. */
  readonly first: number
  readonly count: number
}

/** Lines of the former text that went, and of the present one that came. A deleted file has none of the second, a new one none of the first. */
export interface ChangedLines {
  readonly before: Lines[]
  readonly after: Lines[]
}

export function changedLines(diff: string): Map<string, ChangedLines> {
  const files = new Map<string, ChangedLines>()
  let file = ''
  // Inside a part of a diff each line begins with a sign, so these beginnings are those of Git.
  for (const line of diff.split('\n')) {
    const header = /^diff --git a\/.* b\/(.*)$/.exec(line)
    if (header) {
      file = header[1] ?? ''
      files.set(file, { before: [], after: [] })
    }
    const part = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line)
    if (!part) continue
    const [, oldFirst, oldCount = '1', newFirst, newCount = '1'] = part
    const changed = files.get(file)
    if (Number(oldCount) > 0) changed?.before.push({ first: Number(oldFirst), count: Number(oldCount) })
    if (Number(newCount) > 0) changed?.after.push({ first: Number(newFirst), count: Number(newCount) })
  }
  return files
}
