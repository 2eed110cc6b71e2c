/** `customer.first_name` → `First name`. */
export function wordsOfField(field: string): string {
  const words = (field.split('.').at(-1) ?? field).replace(/[_-]+/g, ' ').trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}
