import { isJsonObject, type JsonObject, type JsonValue } from './json.ts'

interface Start {
  readonly text: string
  readonly whole: boolean
}

/** The beginning of the JSON of a value, without writing the rest: of megabytes only so many characters are made. */
export function jsonStart(value: JsonValue | undefined, most: number): Start {
  const pieces: string[] = []
  let left = most
  const add = (piece: string): boolean => {
    pieces.push(piece.slice(0, left))
    left -= piece.length
    return left >= 0
  }

  function write(one: JsonValue | undefined): boolean {
    if (typeof one === 'string') return add(JSON.stringify(one.length > left ? one.slice(0, left + 1) : one))
    if (typeof one !== 'object' || one === null) return add(JSON.stringify(one ?? null))
    return isJsonObject(one) ? writeObject(one) : writeList(one)
  }

  function writeList(list: readonly JsonValue[]): boolean {
    if (!add('[')) return false
    let separator = ''
    for (const item of list) {
      if (!add(separator) || !write(item)) return false
      separator = ','
    }
    return add(']')
  }

  function writeObject(object: JsonObject): boolean {
    if (!add('{')) return false
    let separator = ''
    // Not the entries of all: there may be a million.
    for (const name in object) {
      if (!add(`${separator}${JSON.stringify(name)}:`) || !write(object[name])) return false
      separator = ','
    }
    return add('}')
  }

  const whole = write(value)
  return { text: pieces.join(''), whole }
}
