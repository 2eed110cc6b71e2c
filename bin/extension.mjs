/** What extensions import as `quoin/extension`. In a cluster the sandbox has its own one, which does the same. */
export const defineFlow = (block) => block
