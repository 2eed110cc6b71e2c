/** The progress of a copy: a bar on a screen, else a line for each finished part. */
import type { CopyProgress } from '../../storage/copy/copy-to-postgres.ts'
import type { Terminal } from '../command.ts'

const WIDTH = 24
/** Milliseconds between two drawings: a screen shows no more, and drawing costs more than a batch. */
const DRAW_MS = 50

export interface ProgressDisplay {
  show(progress: CopyProgress): void
  /** Takes the bar away. */
  end(): void
}

export function progressDisplay({ redraw, print, clock }: Terminal): ProgressDisplay {
  if (!redraw) {
    return {
      show(progress) {
        const line = finishedLine(progress)
        if (line !== undefined) print(line)
      },
      end: () => undefined,
    }
  }
  let drawn = Number.NEGATIVE_INFINITY
  return {
    show(progress) {
      if (clock() < drawn + DRAW_MS) return
      drawn = clock()
      redraw(bar(progress))
    },
    end: () => redraw(''),
  }
}

function finishedLine({ step, title, finished }: CopyProgress): string | undefined {
  if (finished === undefined) return undefined
  const pairs = { copying: 'copied', uploading: 'in the bucket', comparing: 'compared' }
  return `${title}: ${count(finished)} ${pairs[step]}`
}

/** `copying   [########················]  33 %  1,234 of 3,702  tasks` */
export function bar({ step, title, done, total }: CopyProgress): string {
  const part = total === 0 ? 1 : Math.min(1, done / total)
  const full = Math.floor(part * WIDTH)
  const drawn = `[${'#'.repeat(full)}${'.'.repeat(WIDTH - full)}]`
  const percent = String(Math.floor(part * 100)).padStart(3)
  return `${step.padEnd(9)} ${drawn} ${percent} %  ${count(done)} of ${count(total)}  ${title}`
}

export function count(number: number): string {
  return number.toLocaleString('en-US')
}
