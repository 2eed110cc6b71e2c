import { expect, test } from 'vitest'
import { parseSmtpUrl } from './send-mail.ts'

test.each([
  ['mail.example.com', 'must be smtp://'],
  ['https://mail.example.com', 'must be smtp://'],
  ['smtp://', 'must be smtp://'],
  ['smtp://mail.example.com/inbox', 'must end with the port'],
  ['smtp://user:secret@mail.example.com?pool=1', 'a parameter that is not tls'],
  ['smtp://user:secret@mail.example.com?tls=maybe', 'neither required nor off'],
  ['smtp://user:secret@mail.example.com?tls=off&tls=required', 'neither required nor off'],
])('%s is refused', (url, message) => {
  expect(() => parseSmtpUrl(url)).toThrow(message)
  expect(() => parseSmtpUrl(url)).not.toThrow('secret')
})

test.each([
  ['smtp://mail.example.com', 587, false, 'offered'],
  ['smtps://mail.example.com', 465, true, 'offered'],
  ['smtp://mail.example.com:25?tls=required', 25, false, 'required'],
  ['smtp://user:secret@mail.example.com', 587, false, 'required'],
  ['smtp://user:secret@mail.example.com?tls=off', 587, false, 'off'],
  ['smtp://user:secret@127.0.0.1:1025', 1025, false, 'offered'],
  ['smtp://user:secret@127.example.com', 587, false, 'required'],
])('%s: port %i, secure %s, STARTTLS %s', (url, port, secure, startTls) => {
  expect(parseSmtpUrl(url)).toMatchObject({ port, secure, startTls })
})

test('user and password are decoded, and an IPv6 address loses its brackets', () => {
  expect(parseSmtpUrl('smtp://a%40b:p%3Aw@[::1]:2525')).toMatchObject({
    ...{ host: '::1', user: 'a@b', password: 'p:w', startTls: 'offered' },
  })
})
