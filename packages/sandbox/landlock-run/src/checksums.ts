/** SHA-256 of the launchers in bin/; written by build.mjs. */
export const checksums: Readonly<Record<string, string>> = {
  x64: 'b92d8ab5c41b4a391d2ca8285957318ee21c9396bea6d7334a5010b6011401aa',
  arm64: '008a695d281f59fcb303dd07b4b1455adb776fb11f4eb481cbe8a0450aedaa8f',
}
