import { describe, expect, it } from 'vitest'
import { parseFormBody } from './form-body.ts'

describe('a form', () => {
  it.each([
    ['broken UTF-8', Buffer.from([0x61, 0x3d, 0xff])],
    ['__proto__', Buffer.from('__proto__=1')],
    ['constructor', Buffer.from('a=1&constructor=2')],
    ['U+0000', Buffer.from('a=%00')],
  ])('refuses %s', (_name, body) => {
    expect(() => parseFormBody(body)).toThrow(expect.objectContaining({ code: 'INVALID_BODY' }))
  })

  it.each([
    ['', undefined],
    ['title=Buy+milk&status=open', { title: 'Buy milk', status: 'open' }],
    ['tag=a&tag=b', { tag: ['a', 'b'] }],
    ['empty=&name=%C3%A9', { empty: '', name: 'é' }],
    ['half=%zz', { half: '%zz' }],
  ])('reads %s', (body, value) => {
    expect(parseFormBody(Buffer.from(body))).toEqual(value)
  })

  it('reads all of a long one', () => {
    const body = Array.from({ length: 1500 }, (_, i) => `f${i}=${i}`).join('&')
    expect(Object.keys(parseFormBody(Buffer.from(body)) ?? {})).toHaveLength(1500)
  })
})
