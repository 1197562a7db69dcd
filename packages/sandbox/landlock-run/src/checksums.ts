/** SHA-256 of the launchers in bin/; written by build.mjs. */
export const checksums: Readonly<Record<string, string>> = {
  x64: 'a1546db06179fba27d2dc95955699e866c541e0752d4a231972ebc68ee88ee8e',
  arm64: '2d2d0a3becff19d168cba94861fa2cc829ead70fb2b945941edb9e83bd67b46c',
}
