/** The tasks that the bench stores: always the same ones, about 480 bytes each with their `_meta`. */
export const SEEDED = 10_000
/** So many statuses, so that so many different lists of 20 can be asked for. Each has SEEDED / STATUSES tasks. */
export const STATUSES = 64

export const people = ['amal', 'bjarne', 'chiara', 'dmitri', 'esther']
const places = ['warehouse', 'front desk', 'workshop', 'loading bay', 'cold store', 'archive', 'yard']

export function statusName(number: number): string {
  return `stage-${String(number % STATUSES).padStart(2, '0')}`
}

/** The JSON body that creates a task. */
export function taskBody(number: number, status = statusName(number)): string {
  const place = places[number % places.length]
  return JSON.stringify({
    title: `Check the ${place}, round ${number}`,
    status,
    assignee: people[number % people.length],
    priority: number % 5,
    due: `2027-0${1 + (number % 9)}-1${number % 10}`,
    tags: ['inspection', place],
    description: `Walk through the ${place}, note what is broken or missing, and write down who was told about it.`,
  })
}
