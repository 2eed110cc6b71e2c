/** Texts of extracting steps to a function. */
export const extractTexts = {
  extractToAFunction: 'Extract to a function',
  cannotExtract: 'These blocks cannot be a function',
  nameOfTheFunction: 'Name of the function',
  becomes: (count: string, blocks: number) =>
    `${count} ${blocks === 1 ? 'becomes' : 'become'} the function, and a call replaces ${blocks === 1 ? 'it' : 'them'}.`,
  takesAndReturns: (takes: string, returns: string) => `Takes ${takes}. Returns ${returns}.`,
  nothing: 'nothing',
  cancel: 'Cancel',
  extract: 'Extract',
  nameRule: 'Use 1 to 128 letters, digits, spaces and _ . : -, and start with a letter or digit.',
  nameTaken: 'This blueprint has a function of this name.',
  wireWithoutPin: (title: string) => `The wire from ${title} leads from or to a pin that does not exist.`,
  listOfWire: (title: string) => `${title} goes through a list that is not selected. Select it as well.`,
  noParameter: (block: string, name: string) =>
    `${block} reads ${name} in a way that cannot become a parameter.`,
  listNotSelected: (block: string) => `${block} goes through a list that is not selected. Select it as well.`,
  readsAllParameters: (block: string) =>
    `${block} reads all parameters of the request at once. Name the ones that it needs.`,
  readsOfList: (block: string, name: string) =>
    `${block} reads ${name} of a list, which it would not find in a function.`,
  readsMissingPin: (giving: string, pin: string, reading: string) =>
    `${giving} has no pin ${pin}, which ${reading} reads.`,
  cannotReturn: (type: string, giving: string, reading: string) =>
    `A function cannot return the ${type} that ${giving} gives. Select ${reading} as well.`,
  readsAside: (reading: string, giving: string) =>
    `${reading} reads what ${giving} gives, and the flow does not go on to it. Select both.`,
  severalValues: (id: string) =>
    `The pin ${id} takes several values, of which the function would return one among others. Select its block as well.`,
  tooManyValues: (most: number) =>
    `The blocks need more than ${most} values from outside, and a function takes ${most}. Select fewer.`,
  cannotPass: (type: string, title: string) =>
    `A ${type} cannot be passed to a function. Select ${title} as well, which gives it.`,
  noWay: 'No wire leads to the selected blocks: select steps of a flow.',
  twoWaysIn: (first: string, second: string) =>
    `The flow enters at ${first} and at ${second}. A function begins in one place: select blocks with one way in.`,
  unknownBlock: (title: string) => `This version does not know the block ${title}.`,
  startsFlow: (title: string) => `${title} starts a flow. Select the steps behind it, without the trigger.`,
  endsFunction: (title: string) => `${title} ends the function that it is in. Select the steps before it.`,
  waits: (title: string) =>
    `${title} waits, and a function that another flow calls cannot wait. Leave it out.`,
  partOfPage: (title: string) => `${title} is part of a page and starts flows of its own. Leave it out.`,
  runsForEach: (loop: string, inner: string) =>
    `${loop} runs ${inner} for each element: select both, or neither.`,
  twoWaysOut: (first: string, second: string) =>
    `The flow goes on to ${first} and to ${second}. Behind a call it goes on in one way: select blocks with one way out.`,
  canEnd: (block: string, pin: string) =>
    `The flow can end at ${block}${pin}, and behind a call it would go on. Wire it, or select all that follows.`,
  twoBranches: (block: string) =>
    `Behind ${block} the flow goes on in two branches at once. Select one of them.`,
} as const
