export const actionColours = {
  created: 'green',
  updated: 'petrol',
  removed: 'red',
  restored: 'green',
  deleted: 'red',
} as const
