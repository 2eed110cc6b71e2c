/**
 * Whether a value holds more values, or more characters in texts, than that. Looks at shared parts as often as they would
 * be written: a flow of two maps can make 500 MB of text out of 50 KB, and writing it would stop the process for seconds.
 */
export function isLargerThan(whole: unknown, mostValues: number, mostCharacters: number): boolean {
  let values = 0
  let characters = 0
  const open: unknown[] = [whole]
  while (open.length > 0) {
    const value = open.pop()
    values += 1
    if (typeof value === 'string') characters += value.length
    else if (typeof value === 'object' && value !== null)
      for (const item of Object.values(value)) open.push(item)
    if (values + open.length > mostValues || characters > mostCharacters) return true
  }
  return false
}
