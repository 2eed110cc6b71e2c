/** How many there are of what a blueprint and its runs have. */
export const countsTexts = {
  blocks: (count: number) => (count === 1 ? '1 block' : `${count} blocks`),
  differences: (count: number) => (count === 1 ? '1 difference' : `${count} differences`),
  items: (count: number) => (count === 1 ? '1 item' : `${count} items`),
  neededFields: (count: number) => (count === 1 ? '1 field to fill in' : `${count} fields to fill in`),
  problems: (count: number) => (count === 1 ? '1 problem' : `${count} problems`),
  sampledRuns: (count: number) => (count === 1 ? '1 sampled run' : `${count} sampled runs`),
  steps: (count: number) => (count === 1 ? '1 step' : `${count} steps`),
  unusedPins: (count: number) => (count === 1 ? '1 unused pin' : `${count} unused pins`),
  warnings: (count: number) => (count === 1 ? '1 warning' : `${count} warnings`),
} as const
