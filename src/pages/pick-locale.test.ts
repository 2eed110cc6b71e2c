import { expect, test } from 'vitest'
import { directionOf, pickLocale } from './messages.ts'

test.each([
  [undefined, 'en'],
  ['', 'en'],
  ['*', 'en'],
  ['fr-FR,fr;q=0.9', 'en'],
  ['de', 'de'],
  ['de-AT', 'de-AT'],
  ['DE-at', 'de-AT'],
  ['de-Latn-CH', 'de-CH'],
  ['fr, de;q=0.5, en;q=0.8', 'en'],
  ['en;q=0.5, de', 'de'],
  ['en;q=0, de;q=0.1', 'de'],
  ['en-GB,en;q=0.9', 'en-GB'],
  ['de;q=x, en', 'en'],
  ['-- ,;;=,de', 'de'],
  [`${'x'.repeat(10_000)},de`, 'en'],
])('Accept-Language %j gives %s', (header, locale) => {
  expect(pickLocale(header)).toBe(locale)
})

test.each([
  ['ar', 'rtl'],
  ['ar-EG', 'rtl'],
  ['he', 'rtl'],
  ['fa-IR', 'rtl'],
  ['de', 'ltr'],
  ['arn', 'ltr'],
])('%s is written %s', (locale, direction) => {
  expect(directionOf(locale)).toBe(direction)
})
