/** How fluid the canvas is: the time between frames while it is panned, and while a block is dragged across it. */
import type { Page } from 'playwright-core'
import { Latencies } from './latencies.ts'
import { openStudioFixture, type StudioFixture, VIEWPORT } from './studio-fixture.ts'
import { measureSeen } from './studio-seen.ts'

export interface Frames {
  readonly title: string
  /** Milliseconds from one frame to the next. */
  readonly times: Latencies
  /** Milliseconds of script, style and layout in one frame, on average. */
  readonly work: number
}

export interface MeasuredStudio {
  readonly version: string
  readonly frames: readonly Frames[]
  /** Milliseconds from one person's change to its being seen by the other one. */
  readonly seen: readonly number[]
}

const SECONDS = 4
const STEP_MS = 8
/** Of the canvas, between palette and panel. */
const middle = { x: VIEWPORT.width / 2, y: VIEWPORT.height / 2 }

export async function measureStudio(): Promise<MeasuredStudio> {
  const fixture = await openStudioFixture()
  try {
    const frames = [
      ...(await measureFrames(fixture, '', '')),
      ...(await measureFrames(fixture, `?panel=runs&run=${fixture.run}`, ', a run shown')),
    ]
    const seen = await measureSeen(fixture)
    return { version: fixture.browser.version(), frames, seen }
  } finally {
    await fixture.close()
  }
}

async function measureFrames(fixture: StudioFixture, words: string, also: string): Promise<Frames[]> {
  const page = await fixture.open('admin', words)
  const frames: Frames[] = []
  const measure = async (title: string, from: { x: number; y: number }) => {
    const measured = await moveAround(page, `${title}${also}`, from)
    console.log(`  ${measured.title}: median ${measured.times.within(0.5).toFixed(1)} ms`)
    frames.push(measured)
  }
  try {
    for (const [zoom, sight] of [
      [0, 'all blocks in sight'],
      [0.8, 'at reading size'],
    ] as const) {
      await zoomTo(page, zoom)
      await measure(`panning, ${sight}`, await emptySpot(page))
      await measure(`dragging a block, ${sight}`, await blockSpot(page))
    }
  } finally {
    await page.context().close()
  }
  return frames
}

/** Shows everything, then turns the wheel until that near. */
async function zoomTo(page: Page, least: number): Promise<void> {
  await page.getByRole('button', { name: 'Fit View' }).click()
  await page.waitForTimeout(500)
  const zoom = () =>
    page.locator('.react-flow__viewport').evaluate((at) => new DOMMatrix(at.style.transform).a)
  await page.mouse.move(middle.x, middle.y)
  for (let turns = 0; turns < 60 && (await zoom()) < least; turns++) {
    await page.mouse.wheel(0, -100)
    await page.waitForTimeout(30)
  }
  await page.waitForTimeout(500)
}

type Spot = typeof middle

/** Where a press takes hold of the canvas. */
function emptySpot(page: Page): Promise<Spot> {
  return page.evaluate(
    ([x, y]) => {
      for (let i = 0; i < 4_000; i++) {
        const spot = { x: x + (i % 63) * 5 - 155, y: y + Math.floor(i / 63) * 5 - 155 }
        if (document.elementFromPoint(spot.x, spot.y)?.classList.contains('react-flow__pane')) return spot
      }
      throw new Error('The canvas has no empty spot.')
    },
    [middle.x, middle.y] as const,
  )
}

/** Where a press takes hold of the block that is nearest to the middle. */
function blockSpot(page: Page): Promise<Spot> {
  return page.evaluate(
    ([x, y]) => {
      const far = (spot: Spot) => Math.hypot(spot.x - x, spot.y - y)
      const [nearest] = [...document.querySelectorAll('.react-flow__node-block')]
        .map((block) => block.getBoundingClientRect())
        .map(({ left, top, width }) => ({ x: left + width / 2, y: top + 8 }))
        .sort((a, b) => far(a) - far(b))
      if (!nearest) throw new Error('No block is in sight.')
      return nearest
    },
    [middle.x, middle.y] as const,
  )
}

/** Presses there, moves in circles for some seconds, and notes each frame. */
async function moveAround(page: Page, title: string, from: Spot): Promise<Frames> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Performance.enable')
  await page.mouse.move(from.x, from.y)
  await page.mouse.down()
  // What a first move makes is not what each of the others costs.
  await page.mouse.move(from.x + 12, from.y + 12, { steps: 4 })
  await page.evaluate(beginNoting)
  const before = await workOf(devtools)
  const began = performance.now()
  for (let now = 0; now < SECONDS * 1_000; now = performance.now() - began) {
    const turn = (now / 1_500) * 2 * Math.PI
    await page.mouse.move(from.x + 180 * Math.sin(turn), from.y + 140 * (1 - Math.cos(turn)) - 100)
    await new Promise((resolve) => setTimeout(resolve, STEP_MS))
  }
  const work = (await workOf(devtools)) - before
  const recorded = await page.evaluate(endNoting)
  await page.mouse.up()
  await page.keyboard.press('Escape')
  await page.waitForTimeout(500)
  const times = new Latencies()
  for (const time of recorded) times.note(time)
  return { title, times, work: work / recorded.length }
}

/** Milliseconds that the page has worked so far. */
async function workOf(devtools: Awaited<ReturnType<ReturnType<Page['context']>['newCDPSession']>>) {
  const { metrics } = await devtools.send('Performance.getMetrics')
  const names = ['ScriptDuration', 'LayoutDuration', 'RecalcStyleDuration']
  return metrics.filter(({ name }) => names.includes(name)).reduce((sum, { value }) => sum + value * 1_000, 0)
}

/** In the page. */
function beginNoting(): void {
  const frames: number[] = []
  const note = (at: number) => {
    frames.push(at)
    if (!document.body.dataset.noted) requestAnimationFrame(note)
  }
  delete document.body.dataset.noted
  Object.assign(globalThis, { notedFrames: frames })
  requestAnimationFrame(note)
}

/** In the page: milliseconds between frames. */
function endNoting(): number[] {
  document.body.dataset.noted = 'yes'
  const frames: unknown = Reflect.get(globalThis, 'notedFrames')
  const all = Array.isArray(frames) ? frames.map(Number) : []
  return all.slice(1).map((at, index) => at - (all[index] ?? Number.NaN))
}
