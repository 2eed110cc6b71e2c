import { expect, test } from 'vitest'
import { elsewhereOf } from './show-page.ts'

const ask = { method: 'POST', host: 'shop.example', protocol: 'https' } as const

test.each([
  ['a path', '/thanks?by=card', undefined],
  ['a path without a slash', 'thanks', undefined],
  ['nothing', undefined, undefined],
  ['what is no address', 'https://', undefined],
  ['this site', 'https://shop.example/thanks', undefined],
  ['this site without its protocol', '//shop.example/thanks', undefined],
  ['another site', 'https://pay.example/a?b=c', 'https://pay.example/a?b=c'],
  ['another site without its protocol', '//pay.example/a', 'https://pay.example/a'],
  ['another site with backslashes, as browsers read them', '/\\pay.example\\a', 'https://pay.example/a'],
  ['another port', '//shop.example:8443/a', 'https://shop.example:8443/a'],
])('a form that is sent on to %s', (_what, target, elsewhere) => {
  expect(elsewhereOf(ask, target)?.href).toBe(elsewhere)
  expect(elsewhereOf({ ...ask, method: 'GET' }, target)).toBeUndefined()
})

test('a request whose host cannot be read is sent on to full addresses', () => {
  expect(elsewhereOf({ ...ask, host: 'a b' }, 'https://pay.example/')?.host).toBe('pay.example')
  expect(elsewhereOf({ ...ask, host: 'a b' }, '//pay.example/')).toBeUndefined()
})
