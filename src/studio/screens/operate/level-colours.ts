export const levelColours = { debug: 'gray', info: 'petrol', warn: 'sand', error: 'red' } as const
