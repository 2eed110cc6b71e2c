const EMAIL = /^[^\s@]{1,64}@[^\s@]+\.[^\s@.]+$/

/** Whether text has the form of an e-mail address. Whether it receives mail shows only when mail is sent. */
export function isEmailAddress(text: string): boolean {
  return EMAIL.test(text)
}
