export const actionColours = {
  created: 'green',
  updated: 'petrol',
  removed: 'red',
  restored: 'green',
  deleted: 'red',
  imported: 'green',
  exported: 'petrol',
  used: 'petrol',
  run: 'petrol',
  undone: 'sand',
} as const
