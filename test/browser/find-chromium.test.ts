import { expect, test } from 'vitest'
import { unpackedChromium } from './find-chromium.ts'
import { openBrowser } from './open-browser.ts'

// A machine with a browser would never notice that the one in the package has stopped to work.
test('the Chromium of the package starts with its own font, and with its own libraries, and draws a form', async () => {
  const ways = await unpackedChromium()
  expect(ways).toHaveLength(2)
  for (const way of ways) {
    const browser = await openBrowser([way])
    try {
      const page = await browser.newPage()
      await page.setContent(
        '<title>Ready</title><input type="date" placeholder="…"><select><option>ä</option></select>',
      )
      expect(await page.title()).toBe('Ready')
      expect((await page.screenshot()).length).toBeGreaterThan(1_000)
    } finally {
      await browser.close()
    }
  }
})

test('a browser that is not there is said so', async () => {
  await expect(openBrowser([{ executablePath: '/nowhere/chromium', env: {} }])).rejects.toThrow('No Chromium')
})
