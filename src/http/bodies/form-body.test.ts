import { describe, expect, it } from 'vitest'
import { MOST_FORM_FIELDS, parseFormBody } from './form-body.ts'

const fields = (count: number) => Array.from({ length: count }, (_, i) => `f${i}=${i}`).join('&')

describe('a form', () => {
  it.each([
    ['broken UTF-8', Buffer.from([0x61, 0x3d, 0xff])],
    ['__proto__', Buffer.from('__proto__=1')],
    ['constructor', Buffer.from('a=1&constructor=2')],
    ['U+0000', Buffer.from('a=%00')],
    ['one name too many', Buffer.from(fields(MOST_FORM_FIELDS + 1))],
    ['one value of a name too many', Buffer.from('a&'.repeat(MOST_FORM_FIELDS))],
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

  it('reads all of the longest one', () => {
    const read = parseFormBody(Buffer.from(fields(MOST_FORM_FIELDS))) ?? {}
    expect(Object.keys(read)).toHaveLength(MOST_FORM_FIELDS)
  })
})
