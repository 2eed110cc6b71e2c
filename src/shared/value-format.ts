/** How a value is written for people; by the page's locale. `auto` goes by the value's own type. */
export const valueFormats = [
  'auto',
  'text',
  'number',
  'currency',
  'percent',
  'date',
  'date_time',
  'relative_time',
  'boolean',
  'badge',
  'link',
  'email',
  'image',
  'file',
  'json',
] as const
export type ValueFormat = (typeof valueFormats)[number]
