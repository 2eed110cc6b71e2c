import { expect, test } from 'vitest'
import { settingTitle } from './setting-title.ts'

test.each([
  ['QUOIN_RUN_BUDGET', 'Run budget'],
  ['QUOIN_PUBLIC_URL', 'Public URL'],
  ['QUOIN_CORS_ORIGINS', 'CORS origins'],
  ['QUOIN_POOL', 'Pool'],
])('the setting %s is shown as %s', (name, title) => {
  expect(settingTitle(name)).toBe(title)
})
