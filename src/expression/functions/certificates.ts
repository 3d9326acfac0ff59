import { defineFunctions } from './define.ts';
import { decodeX509 } from './x509/decode.ts';
import { exampleCertificate } from './x509/example.ts';

export const certificateFunctions = defineFunctions({
  x509_decode: {
    parameters: ['string'],
    returns: 'object',
    description: 'A PEM certificate or certificate request with an RSA key, as Go shows it in JSON.',
    example: {
      expression: 'x509_decode(@).Subject.CommonName',
      data: exampleCertificate,
      result: 'example.com',
    },
    call: (args) => args.attempt(() => decodeX509(args.text(0))),
  },
});
