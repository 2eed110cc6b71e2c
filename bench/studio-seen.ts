/** Two people at one blueprint: how long until one sees what the other has changed. */
import type { Page } from 'playwright-core'
import type { StudioFixture } from './studio-fixture.ts'

const TIMES = 20

/** Milliseconds, each time. Both browsers have the same clock. */
export async function measureSeen(fixture: StudioFixture): Promise<number[]> {
  const words = `?block=${fixture.block}`
  const [one, other] = [await fixture.open('admin', words), await fixture.open('second', words)]
  try {
    for (const page of [one, other]) await blockOf(page, fixture.block).waitFor({ timeout: 60_000 })
    for (const page of [one, other]) await goNear(page, fixture.block)
    await one.evaluate(noteLettingGo)
    const times: number[] = []
    for (let time = 0; time < TIMES; time++) {
      const seen = other.evaluate(untilMoved, fixture.block)
      const changed = await moveBlock(one, fixture.block, time)
      times.push((await seen) - changed)
      // At another place in the second each time.
      await other.waitForTimeout(500 + ((time * 137) % 1_000))
    }
    return times
  } finally {
    await one.context().close()
    await other.context().close()
  }
}

const blockOf = (page: Page, guid: string) => page.locator(`.react-flow__node-block[data-id="${guid}"]`)

/** Turns the wheel over the block until it can be read. */
async function goNear(page: Page, guid: string): Promise<void> {
  const box = await blockOf(page, guid).boundingBox()
  if (!box) throw new Error('The block is not in sight.')
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
  const width = async () => (await blockOf(page, guid).boundingBox())?.width ?? 0
  for (let turns = 0; turns < 60 && (await width()) < 160; turns++) {
    await page.mouse.wheel(0, -100)
    await page.waitForTimeout(40)
  }
  await page.waitForTimeout(500)
}

/** Drags it a bit, to and fro; gives when it was let go. */
async function moveBlock(page: Page, guid: string, time: number): Promise<number> {
  const box = await blockOf(page, guid).boundingBox()
  if (!box) throw new Error('The block is not in sight.')
  const [x, y] = [box.x + box.width / 2, box.y + 8]
  const by = time % 2 === 0 ? 60 : -60
  await page.mouse.move(x, y)
  await page.mouse.down()
  await page.mouse.move(x + by, y, { steps: 5 })
  await page.mouse.up()
  return page.evaluate(() => Number(document.body.dataset.letGo))
}

/** In the page. */
function noteLettingGo(): void {
  const note = () => {
    document.body.dataset.letGo = String(Date.now())
  }
  addEventListener('pointerup', note, { capture: true })
}

/** In the page: when the block stands at another place, after the frame in which it does. */
function untilMoved(guid: string): Promise<number> {
  const block = document.querySelector(`.react-flow__node-block[data-id="${guid}"]`)
  if (!(block instanceof HTMLElement)) throw new Error('The block is not drawn.')
  const before = block.style.transform
  const began = Date.now()
  return new Promise((resolve, reject) => {
    const look = () => {
      if (block.style.transform !== before) resolve(Date.now())
      else if (Date.now() - began > 20_000) reject(new Error('The change was not seen within 20 s.'))
      else requestAnimationFrame(look)
    }
    requestAnimationFrame(look)
  })
}
