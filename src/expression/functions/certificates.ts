import type { JsonObject } from '../../json/value.ts';
import { Suspend } from '../scope.ts';
import { defineFunctions } from './define.ts';
import { exampleCertificate } from './x509/example.ts';

let decode: ((pem: string) => JsonObject) | undefined;
let loading: Promise<void> | undefined;

/** The ASN.1 library takes 20 ms to load, which only policies that use it should pay for. */
function loadDecoder(): Promise<void> {
  loading ??= import('./x509/decode.ts').then((module) => {
    decode = module.decodeX509;
  });
  return loading;
}

/** Throws Suspend until the decoder is loaded, and an Error for what is no certificate. */
export function decodeCertificate(pem: string): JsonObject {
  if (decode === undefined) throw new Suspend(loadDecoder());
  return decode(pem);
}

export const certificateFunctions = defineFunctions({
  x509_decode: {
    parameters: ['string'],
    returns: 'object',
    description: 'Decodes a PEM certificate or certificate request with an RSA key into the JSON form of Go.',
    example: {
      expression: 'x509_decode(@).Subject.CommonName',
      data: exampleCertificate,
      result: 'example.com',
    },
    // A failure to load is reported by the call.
    prepare: () => void loadDecoder().catch(() => undefined),
    call: (args) => {
      const decodeX509 = decode;
      if (decodeX509 === undefined) throw new Suspend(loadDecoder());
      return args.attempt(() => decodeX509(args.text(0)));
    },
  },
});
